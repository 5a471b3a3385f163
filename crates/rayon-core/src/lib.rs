//! The interface of rayon-core 1.13.0 on the Tidegate runtime.
