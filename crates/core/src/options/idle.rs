//! What idle workers do: they follow an [`IdlePolicy`] or a custom backoff.

use super::{BuildError, Environment, Settings};
use tidegate_policy::IdlePolicy;
use tidegate_policy::idle::BackoffFactory;

pub(crate) enum IdleRule {
    BuiltIn(IdlePolicy),
    Custom(BackoffFactory),
}

impl IdleRule {
    /// Chooses between an idle policy and a custom backoff. Like an idle policy, a backoff that is
    /// set on the builder overrides the environment variable.
    pub(super) fn of(
        settings: &mut Settings,
        environment: Environment,
    ) -> Result<Self, BuildError> {
        match (settings.idle, settings.backoff.take()) {
            (None, Some(backoff)) => Ok(Self::Custom(backoff)),
            (Some(idle), Some(_)) => Err(BuildError::new(format!(
                "Builder::backoff: contradicts Builder::idle, {idle}: expected only one of the two"
            ))),
            (_, None) => Ok(Self::BuiltIn(settings.idle(environment)?.0)),
        }
    }

    pub(crate) fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_))
    }

    /// Returns the idle policy, unless a custom backoff replaces it.
    pub(crate) fn built_in(&self) -> Option<IdlePolicy> {
        match self {
            Self::BuiltIn(idle) => Some(*idle),
            Self::Custom(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Choose;
    use crate::{Builder, Pool};
    use tidegate_policy::Rest;
    use tidegate_policy::idle::{Backoff, CustomBackoff, Linear};

    struct Parks;

    impl CustomBackoff for Parks {
        fn backoff(&mut self, _: u64) -> Rest {
            Rest::Park
        }

        fn reset(&mut self) {}
    }

    fn rule(builder: Builder) -> Result<IdleRule, String> {
        let options = builder.workers(1).options();
        options
            .map(|options| options.idle)
            .map_err(|error| error.to_string())
    }

    fn parks() -> Builder {
        Pool::builder().backoff(BackoffFactory::new(|_| Parks))
    }

    #[test]
    fn inconsistent_parameters_name_the_method() {
        let linear = Linear {
            min: 2,
            max: 1,
            ..Default::default()
        };
        let idle = IdlePolicy::Backoff(Backoff::Linear(linear));
        let error = rule(Pool::builder().idle(idle)).err().unwrap();
        assert!(error.contains("Builder::idle"), "{error}");
        assert!(error.contains("min"), "{error}");
    }

    #[test]
    fn backoff_contradicts_idle_policy() {
        assert_eq!(
            rule(parks().idle(IdlePolicy::Yield)).err().unwrap(),
            "Builder::backoff: contradicts Builder::idle, yield: expected only one of the two"
        );
    }

    #[test]
    fn backoff_replaces_the_default() {
        assert_eq!(rule(parks()).ok().unwrap().built_in(), None);
    }
}
