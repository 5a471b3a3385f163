//! Programs for tests.

/// Implements [`Split`](crate::Split) for a program of this name that does nothing.
macro_rules! split {
    ($program:ty, $name:literal) => {
        impl $crate::Split for $program {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1";
            type Item = ();
            type Out = ();
            type Report = String;

            fn plan(&self, _: usize) -> Result<Vec<$crate::Weighted<()>>, $crate::Error> {
                Ok(Vec::new())
            }

            fn run(
                &self,
                (): (),
                _: &$crate::Budget,
            ) -> Result<$crate::Done<(), ()>, $crate::Error> {
                Ok($crate::Done::whole(()))
            }

            fn merge(&self, _: Vec<()>) -> Result<String, $crate::Error> {
                Ok(String::new())
            }
        }
    };
}

pub(crate) use split;
