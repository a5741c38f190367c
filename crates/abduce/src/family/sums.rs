//! Statistics that are a weight and a few weighted sums.

/// Declares statistics that add up: a weight and weighted sums.
macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            /// The total weight.
            pub weight: f64,
            $($(#[$field_doc])* pub $field: f64,)*
        }

        impl $crate::family::Stats for $name {
            fn weight(&self) -> f64 {
                self.weight
            }

            fn merge(&mut self, other: &Self) {
                self.weight += other.weight;
                $(self.$field += other.$field;)*
            }

            fn scale(&mut self, factor: f64) {
                self.weight *= factor;
                $(self.$field *= factor;)*
            }

            fn forget(&mut self, other: &Self) -> $crate::Result<()> {
                let weight = self.weight - other.weight;
                let rounding = 1e-9 * self.weight;
                if weight < -rounding {
                    return Err($crate::family::never_seen());
                }
                *self = if weight <= rounding { $name::default() } else { $name { weight, $($field: self.$field - other.$field,)* } };
                Ok(())
            }
        }
    };
}

pub(crate) use sums;
