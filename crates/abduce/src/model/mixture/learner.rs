//! A mixture to be fitted: clusters of rows without labels, of a given number or of one that a
//! criterion or tests choose.

use super::{
    BootstrapOptions, FitOptions, FittedMixture, Grid, Reals, Recipe, Specification,
    bootstrap_test, fit_from_mixture, select,
};
use crate::data::Source;
use crate::model::{Learned, Learner};
use crate::{Control, Result};

/// A mixture to be fitted.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// The specification and the options of each fit.
    pub recipe: Recipe,
    /// How the number of components and the covariance are chosen.
    pub choice: Choice,
    /// The fitted mixture of the same columns that the fit starts from.
    pub start: Option<Box<FittedMixture>>,
}

/// How one mixture is chosen among several.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Choice {
    /// There is only one.
    #[default]
    None,
    /// By a criterion, among all pairs of a grid.
    Grid(Grid),
    /// By tests of each number of components against one more.
    Bootstrap {
        /// The smallest number of components.
        first: usize,
        /// The largest number of components.
        last: usize,
        /// How the tests are made.
        options: BootstrapOptions,
    },
}

impl Mixture {
    /// This many clusters with a full covariance each.
    pub fn new(components: usize) -> Mixture {
        let specification = Specification::mixture(components, Default::default());
        Mixture::of(Recipe::new(specification, FitOptions::default()))
    }

    /// The clusters of a recipe.
    pub fn of(recipe: Recipe) -> Mixture {
        Mixture {
            recipe,
            choice: Choice::None,
            start: None,
        }
    }

    /// The grid, with the covariance of the specification if it has none.
    fn grid(&self, grid: &Grid) -> Grid {
        let mut grid = grid.clone();
        if let (true, Reals::Together { covariance, .. }) =
            (grid.covariances.is_empty(), self.recipe.specification.reals)
        {
            grid.covariances.push(covariance);
        }
        grid
    }

    fn learn_one(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        let Some(start) = &self.start else {
            return self.recipe.learn(rows, control);
        };
        let Recipe {
            specification,
            options,
        } = &self.recipe;
        let fit = fit_from_mixture(specification, rows, start, options, control)?;
        Ok(fit.learned(self.recipe.clone()))
    }
}

impl Learner for Mixture {
    const NAME: &'static str = "mixture";
    const ABOUT: &'static str = "Clusters, found without labels";
    type Model = FittedMixture;

    fn target(&self) -> Option<&str> {
        self.recipe.specification.target.as_deref()
    }

    fn finds_clusters(&self) -> bool {
        true
    }

    fn learn(&self, rows: &dyn Source, control: Control) -> Result<Learned> {
        let Recipe {
            specification,
            options,
        } = &self.recipe;
        let recipe = |specification| Recipe::new(specification, options.clone());
        Ok(match &self.choice {
            Choice::None => self.learn_one(rows, control)?,
            Choice::Grid(grid) => {
                let (fit, selection) =
                    select(specification, &self.grid(grid), rows, options, control)?;
                let chosen = &selection.tried[selection.chosen];
                let chosen = specification.with_pair(chosen.covariance, chosen.components);
                let (recipe, stopped) = (recipe(chosen), control.is_interrupted());
                fit.learned_with(recipe, stopped, |details| {
                    details.selection = Some(selection);
                })
            }
            Choice::Bootstrap {
                first,
                last,
                options: test,
            } => {
                let numbers = *first..=*last;
                let (fit, test) =
                    bootstrap_test(specification, numbers, rows, options, test, control)?;
                let chosen = Specification {
                    components: Some(test.chosen),
                    ..(**specification).clone()
                };
                let (recipe, stopped) = (recipe(chosen), control.is_interrupted());
                fit.learned_with(recipe, stopped, |details| {
                    details.bootstrap = Some(test);
                })
            }
        })
    }
}
