//! Looks for an order of threads in which a test fails: two transfers take the locks of two
//! accounts in opposite orders.
//!
//! The page `docs/guide/rare-orders.md` explains it.

use tidegate::sync::Mutex;
use tidegate::{Pool, testing};

struct Account {
    number: u32,
    balance: Mutex<i64>,
}

impl Account {
    fn new(number: u32, balance: i64) -> Self {
        let balance = Mutex::new(balance);
        Self { number, balance }
    }
}

/// Takes the locks in the order of the arguments.
fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut source = from.balance.lock().unwrap();
    let mut target = to.balance.lock().unwrap();
    *source -= amount;
    *target += amount;
}

/// Takes the locks in the order of the accounts' numbers.
fn transfer_in_order(from: &Account, to: &Account, amount: i64) {
    if from.number < to.number {
        transfer(from, to, amount);
    } else {
        transfer(to, from, -amount);
    }
}

/// Moves money in both directions at the same time.
fn test(transfer: fn(&Account, &Account, i64)) {
    let (a, b) = (Account::new(1, 100), Account::new(2, 100));
    tidegate::join(|| transfer(&a, &b, 30), || transfer(&b, &a, 50));
    assert_eq!(*a.balance.lock().unwrap(), 120);
}

fn main() {
    let failure = testing::search(1_000, Pool::builder, |_| test(transfer));
    println!(
        "{}",
        failure.expect("two transfers can wait for each other")
    );

    // Panics if a run fails, as a test should.
    testing::check(1_000, |_| test(transfer_in_order));
    println!("no run failed with the locks in order");
}
