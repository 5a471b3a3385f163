//! Applies the user's parameters to a tree, and rejects parameters that its type doesn't use.

use super::tree::{Shape, Tree, Type};
use crate::parameter::{ParameterError, Setting, Values, Words};

impl Words for Type {
    const ALL: &'static [Self] = &[
        Self::Binomial,
        Self::Geometric,
        Self::Hybrid,
        Self::Balanced,
    ];
    const NAMES: &'static [&'static str] = &["binomial", "geometric", "hybrid", "balanced"];
}

impl Words for Shape {
    const ALL: &'static [Self] = &[Self::Linear, Self::ExpDecrease, Self::Cyclic, Self::Fixed];
    const NAMES: &'static [&'static str] = &["linear", "exp-decrease", "cyclic", "fixed"];
}

/// Whether this parameter affects trees of this type.
pub(super) fn depends_on(kind: Type, parameter: &str) -> bool {
    match parameter {
        "shape" => matches!(kind, Type::Geometric | Type::Hybrid),
        "depth" => kind != Type::Binomial,
        "q" | "m" => matches!(kind, Type::Binomial | Type::Hybrid),
        _ => true,
    }
}

fn refuse_ignored(kind: Type, values: &Values) -> Result<(), ParameterError> {
    let of_trees = ["shape", "b0", "depth", "q", "m", "seed"];
    let (used, ignored): (Vec<_>, Vec<_>) = of_trees
        .into_iter()
        .partition(|name| depends_on(kind, name));
    match ignored.into_iter().find(|name| values.has(name)) {
        None => Ok(()),
        Some(name) => Err(ParameterError::new(format!(
            "{name} has no effect on a {} tree: expected {}",
            Type::NAMES[kind as usize],
            used.join(", ")
        ))),
    }
}

/// Sets a field of a tree if the user passed its parameter.
fn set<T: Setting>(values: &Values, name: &str, field: &mut T) -> Result<(), ParameterError> {
    if values.has(name) {
        *field = T::read(values, name)?;
    }
    Ok(())
}

/// Returns `tree` after applying the parameters in `values`.
pub(super) fn changed(mut tree: Tree, values: &Values) -> Result<Tree, ParameterError> {
    set(values, "type", &mut tree.kind)?;
    set(values, "shape", &mut tree.shape)?;
    set(values, "b0", &mut tree.b0)?;
    set(values, "depth", &mut tree.depth)?;
    set(values, "q", &mut tree.q)?;
    set(values, "m", &mut tree.m)?;
    set(values, "seed", &mut tree.seed)?;
    refuse_ignored(tree.kind, values)?;
    // A named tree is known to be finite, even if its expected size is infinite.
    let unknown = ["type", "q", "m"].iter().any(|name| values.has(name));
    let branches = matches!(tree.kind, Type::Binomial | Type::Hybrid);
    if unknown && branches && tree.q * f64::from(tree.m) >= 1.0 {
        return Err(ParameterError::new(format!(
            "the tree with q={} and m={} is infinite: expected q * m < 1",
            tree.q, tree.m
        )));
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Given, Size};
    use crate::program::Program;
    use crate::uts::Uts;

    fn uts(given: &[(&str, &str)]) -> Result<Uts, ParameterError> {
        let named = given
            .iter()
            .map(|(name, text)| ((*name).into(), text.into()));
        let given = Given {
            named: named.collect(),
            ..Given::default()
        };
        Uts::from_values(&Values::parse(Uts::PARAMETERS, Size::Tiny, &given)?)
    }

    /// The error must name the parameter and the type of tree.
    #[test]
    fn ignored_parameter_is_rejected() {
        for (kind, ignored) in [
            ("geometric", &["q", "m"][..]),
            ("binomial", &["shape", "depth"]),
            ("balanced", &["shape", "q", "m"]),
            ("hybrid", &[]),
        ] {
            let others = [("shape", "fixed"), ("depth", "3"), ("q", "0.1"), ("m", "2")];
            for (name, text) in others {
                let error = uts(&[("type", kind), (name, text)]).err();
                let told = error.map(|error| error.to_string());
                let start = format!("{name} has no effect on a {kind} tree: expected ");
                let refused = told.as_ref().is_some_and(|told| told.starts_with(&start));
                assert_eq!(refused, ignored.contains(&name), "{kind} {told:?}");
                assert!(refused || told.is_none(), "{told:?}");
            }
        }
    }

    #[test]
    fn only_relevant_parameters_are_reported() {
        let told = |kind| {
            let parameters = uts(&[("type", kind)]).unwrap().parameters();
            let mut names: Vec<_> = parameters.keys().cloned().collect();
            // Sorted, because the order of the keys depends on the features with which serde_json
            // was built.
            names.sort();
            names.join(" ")
        };
        assert_eq!(told("geometric"), "b0 depth form seed shape type");
        assert_eq!(told("binomial"), "b0 form m q seed type");
        assert_eq!(told("hybrid"), "b0 depth form m q seed shape type");
        assert_eq!(told("balanced"), "b0 depth form seed type");
    }
}
