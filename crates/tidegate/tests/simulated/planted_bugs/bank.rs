//! Lock order across a join: a payment keeps the payer's account locked while the two halves of a
//! join compute the fee and credit the payee.
//!
//! Three payments in a ring wait for each other forever if each has locked its payer before any of
//! them locks its payee. Ordinary runs miss this: an account stays locked for about 100 ns, the
//! payments of the ring are 0.1 ms of other work apart, and three threads must stop between two
//! locks at once. A pool with two workers can never get there.

use super::read;
use tidegate::sync::Mutex;

const ACCOUNTS: usize = 8;
const OPENING: i64 = 1_000;

/// The payments that each branch books in a day, one after the other: payer, payee and amount.
const BRANCHES: [[(usize, usize, i64); 3]; 4] = [
    [(0, 1, 100), (3, 4, 40), (3, 5, 10)],
    [(4, 6, 70), (1, 2, 200), (4, 5, 30)],
    [(5, 7, 90), (6, 7, 20), (2, 0, 300)],
    [(3, 6, 60), (4, 7, 50), (5, 6, 80)],
];

type Bank = [Mutex<i64>; ACCOUNTS];

fn fee(amount: i64) -> i64 {
    amount / 100
}

/// Books a payment and returns its fee.
pub fn book(bank: &Bank, (payer, payee, amount): (usize, usize, i64)) -> i64 {
    let mut balance = bank[payer].lock().unwrap();
    let (fee, ()) = tidegate::join(|| fee(amount), || *bank[payee].lock().unwrap() += amount);
    *balance -= amount + fee;
    fee
}

/// Like `book`, but locks both accounts before the join, the lower one first.
pub fn book_in_order(bank: &Bank, (payer, payee, amount): (usize, usize, i64)) -> i64 {
    let mut low = bank[payer.min(payee)].lock().unwrap();
    let mut high = bank[payer.max(payee)].lock().unwrap();
    let (fee, credit) = tidegate::join(|| fee(amount), || amount);
    let (from, to) = if payer < payee {
        (&mut low, &mut high)
    } else {
        (&mut high, &mut low)
    };
    **from -= amount + fee;
    **to += credit;
    fee
}

/// Books the payments of a day and checks that no money is lost.
pub fn close_day(book: fn(&Bank, (usize, usize, i64)) -> i64) {
    let bank: Bank = std::array::from_fn(|_| Mutex::new(OPENING));
    let fees = Mutex::new(0);
    tidegate::scope(|scope| {
        for payments in &BRANCHES {
            let (bank, fees) = (&bank, &fees);
            scope.spawn(move |_| {
                let mut total = 0;
                for payment in payments {
                    read();
                    total += book(bank, *payment);
                }
                *fees.lock().unwrap() += total;
            });
        }
    });
    let balances: i64 = bank
        .map(|balance| balance.into_inner().unwrap())
        .iter()
        .sum();
    let fees = fees.into_inner().unwrap();
    assert_eq!(balances + fees, ACCOUNTS as i64 * OPENING, "money is lost");
}
