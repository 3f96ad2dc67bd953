//! The models that are served, and the choice of models for a request.

use std::sync::Arc;

use super::{Model, languages};
use crate::config::{Configuration, ModelConfiguration, ModelKind};
use crate::refusal::RouteError;

/// The models of one reading of the configuration.
#[derive(Clone, Default)]
pub struct Registry {
    /// The open models in the order of the configuration.
    pub models: Vec<Arc<Model>>,
    /// All models of the configuration with their kinds, also those that are not open.
    pub configured: Vec<(ModelConfiguration, ModelKind)>,
    /// The pivot language for pairs that no model has.
    pub pivot: Option<String>,
    /// The models that did not open, with reasons.
    pub broken: Vec<(String, String)>,
    /// The models that are not open yet.
    pub loading: Vec<String>,
}

/// The models that translate a request, one after the other, with its languages.
#[derive(Clone)]
pub struct Route {
    /// One model, or two with the pivot language between them.
    pub models: Vec<Arc<Model>>,
    /// The language of the source, where it is known.
    pub from: Option<String>,
    /// The language of the target, where it is known.
    pub to: Option<String>,
    /// The language between two models.
    pub pivot: Option<String>,
}

impl Route {
    /// Returns a route through one model.
    fn through(model: &Arc<Model>, from: Option<String>, to: Option<String>) -> Self {
        Route { models: vec![Arc::clone(model)], from, to, pivot: None }
    }

    /// Returns the languages that model `step` translates from and to, if they are known.
    pub fn languages(&self, step: usize) -> [Option<&str>; 2] {
        let is_last = step + 1 == self.models.len();
        let from = if step == 0 { &self.from } else { &self.pivot };
        let to = if is_last { &self.to } else { &self.pivot };
        [from.as_deref(), to.as_deref()]
    }
}

impl Registry {
    /// Creates a registry in which no model of `configuration` is open yet.
    pub fn loading(configuration: &Configuration) -> Self {
        // The search for the files of a model takes too long to be repeated for every request.
        let configured =
            configuration.models.iter().map(|model| (model.clone(), model.actual_kind()));
        Registry {
            configured: configured.collect(),
            pivot: configuration.pivot.clone(),
            loading: configuration.models.iter().map(|model| model.name.clone()).collect(),
            ..Registry::default()
        }
    }

    fn translating(&self) -> impl Iterator<Item = &Arc<Model>> + Clone {
        self.models.iter().filter(|model| model.translates())
    }

    /// Returns the models that translate: the one that requests get by default, then the others.
    fn preferred(&self) -> impl Iterator<Item = &Arc<Model>> + Clone {
        let default = self.translating().filter(|model| model.configuration.default);
        default.chain(self.translating().filter(|model| !model.configuration.default))
    }

    /// Returns the configurations of all models with their kinds, in order. A model of which an
    /// earlier generation is served has that generation's configuration.
    fn configurations(&self) -> impl Iterator<Item = (&ModelConfiguration, ModelKind)> + Clone {
        self.configured.iter().map(|(wanted, kind)| match self.find(&wanted.name) {
            Some(model) => (&model.configuration, model.kind),
            None => (wanted, *kind),
        })
    }

    /// Returns the configurations of the models that translate, also of those that are not open.
    pub fn translating_configurations(&self) -> impl Iterator<Item = &ModelConfiguration> + Clone {
        let translating = self.configurations().filter(|(_, kind)| *kind != ModelKind::Lm);
        translating.map(|(configuration, _)| configuration)
    }

    /// Finds the model of a request that names none: of the models that fit it, the one that
    /// requests get by default, or else the first. If it is not open, no other model takes its
    /// place, because that one may translate to another language.
    fn first_choice(
        &self,
        fits: impl Fn(&ModelConfiguration) -> bool,
    ) -> Result<&Arc<Model>, RouteError> {
        let mut fitting = self.translating_configurations().filter(|one| fits(one));
        let default = fitting.clone().find(|one| one.default);
        let chosen = default.or_else(|| fitting.next()).ok_or(RouteError::Nothing)?;
        self.find(&chosen.name).ok_or_else(|| RouteError::Broken(chosen.name.clone()))
    }

    /// Finds the model `name`.
    pub fn find(&self, name: &str) -> Option<&Arc<Model>> {
        self.models.iter().find(|model| model.name() == name)
    }

    /// Returns the source languages, each once, in the order of the models.
    pub fn sources(&self) -> Vec<&str> {
        unique(self.translating().flat_map(|model| &model.configuration.from))
    }

    /// Returns all languages, source languages first.
    pub fn languages(&self) -> Vec<&str> {
        let mut all = self.sources();
        for target in self.targets() {
            if !all.contains(&target) {
                all.push(target);
            }
        }
        all
    }

    /// Returns the target languages.
    pub fn targets(&self) -> Vec<&str> {
        unique(self.translating().flat_map(|model| &model.configuration.to))
    }

    /// Returns the targets of `source`, including those through the pivot.
    pub fn targets_of(&self, source: &str) -> Vec<&str> {
        let targets = self.targets();
        targets.into_iter().filter(|target| self.pair(source, target).is_ok()).collect()
    }

    /// Finds the model `name`, or without a name the first language model, if there is one.
    ///
    /// # Errors
    /// If there is no model of the name, or the model is not open.
    pub fn language_model(&self, name: Option<&str>) -> Result<Option<&Arc<Model>>, RouteError> {
        let mut all = self.configurations();
        let first = all.find(|(_, kind)| *kind == ModelKind::Lm).map(|(first, _)| &*first.name);
        let Some(name) = name.or(first) else { return Ok(None) };
        let found = self.find(name).ok_or_else(|| RouteError::NoModel(name.to_owned()));
        found.map(Some).map_err(|error| self.explain(error))
    }

    /// Finds the route of a request, which may name a model, a source and a target.
    ///
    /// # Errors
    /// If no model serves the request.
    pub fn route(
        &self,
        name: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Route, RouteError> {
        self.find_route(name, from, to).map_err(|error| self.explain(error))
    }

    /// Returns `error`, or what probably caused it: a model that is not open.
    fn explain(&self, error: RouteError) -> RouteError {
        // A missing model may be one that is still being opened.
        if !self.loading.is_empty() {
            return RouteError::Loading;
        }
        self.absent_model(&error).map_or(error, RouteError::Broken)
    }

    /// Returns the configured model that did not open and would probably have prevented `error`.
    fn absent_model(&self, error: &RouteError) -> Option<String> {
        fn has(model: &&ModelConfiguration, code: &str) -> bool {
            let all = model.from.iter().chain(&model.to);
            model.from.is_empty()
                || model.to.is_empty()
                || languages::find(code, all.map(String::as_str)).is_some()
        }
        let configured = self.configured.iter().map(|(model, _)| model);
        let mut absent = configured.filter(|model| self.find(&model.name).is_none());
        let found = absent.find(|model| match error {
            RouteError::NoModel(name) => model.name == *name,
            RouteError::NoLanguage(code) => has(model, code),
            RouteError::NoPair { from, to } => has(model, from) && has(model, to),
            _ => false,
        });
        found.map(|model| model.name.clone())
    }

    fn find_route(
        &self,
        name: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Route, RouteError> {
        if let Some(name) = name {
            let model = self.find(name).ok_or_else(|| RouteError::NoModel(name.to_owned()))?;
            if !model.translates() {
                return Err(RouteError::NoTranslation(name.to_owned()));
            }
            let matching = |code: Option<&str>, side: &[String]| match code {
                Some(code) => known(code, unique(side.iter())).map(|code| Some(code.to_owned())),
                None => Ok(only(side)),
            };
            let from = matching(from, &model.configuration.from)?;
            let to = matching(to, &model.configuration.to)?;
            return Ok(Route::through(model, from, to));
        }
        match (from, to) {
            (Some(from), Some(to)) => self.pair(from, to),
            (None, None) => {
                let model = self.first_choice(|_| true)?;
                let (from, to) = (&model.configuration.from, &model.configuration.to);
                Ok(Route::through(model, only(from), only(to)))
            }
            (Some(from), None) => {
                let sources = self.translating_configurations().flat_map(|model| &model.from);
                let from = known(from, unique(sources))?;
                let model = self.first_choice(|model| has(&model.from, from))?;
                let to = only(&model.configuration.to);
                Ok(Route::through(model, Some(from.to_owned()), to))
            }
            (None, Some(to)) => {
                let targets = self.translating_configurations().flat_map(|model| &model.to);
                let to = known(to, unique(targets))?;
                let model = self.first_choice(|model| has(&model.to, to))?;
                let from = only(&model.configuration.from);
                Ok(Route::through(model, from, Some(to.to_owned())))
            }
        }
    }

    /// Finds the route of a pair of languages: the preferred model that has the pair, or two models
    /// in a row.
    fn pair(&self, from: &str, to: &str) -> Result<Route, RouteError> {
        if let Some((model, [from, to])) = self.direct(from, to) {
            return Ok(Route::through(model, Some(from.to_owned()), Some(to.to_owned())));
        }
        let steps = self
            .pivot
            .as_deref()
            .and_then(|pivot| Some((self.direct(from, pivot)?, self.direct(pivot, to)?)));
        if let Some(((first, [from, _]), (second, [_, to]))) = steps {
            let models = vec![Arc::clone(first), Arc::clone(second)];
            let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
            return Ok(Route { models, from, to, pivot: self.pivot.clone() });
        }
        // A language of the other side is known too, even if no model has the pair.
        for code in [from, to] {
            known(code, self.languages())?;
        }
        Err(RouteError::NoPair { from: from.to_owned(), to: to.to_owned() })
    }

    /// Finds the preferred model that has a pair of languages, and its own codes of the pair.
    /// Models may spell a language in several ways, or have only one of its regions: the model
    /// whose target fits best is taken, then the one whose source does.
    fn direct(&self, from: &str, to: &str) -> Option<(&Arc<Model>, [&str; 2])> {
        let fitting = self.preferred().filter_map(|model| {
            let (source_fitness, from) = fit(&model.configuration.from, from)?;
            let (target_fitness, to) = fit(&model.configuration.to, to)?;
            Some(([target_fitness, source_fitness], (model, [from, to])))
        });
        let best = fitting.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.map(|(_, found)| found)
    }
}

fn known<'a>(code: &str, served: Vec<&'a str>) -> Result<&'a str, RouteError> {
    let found = languages::find(code, served.into_iter());
    found.ok_or_else(|| RouteError::NoLanguage(code.to_owned()))
}

fn has(languages: &[String], code: &str) -> bool {
    languages.iter().any(|language| language == code)
}

/// Finds the language of one side of a model that `code` means, and how well it fits.
fn fit<'a>(side: &'a [String], code: &str) -> Option<(u32, &'a str)> {
    languages::find_with_fitness(code, side.iter().map(String::as_str))
}

/// Returns the language of a side that has only one.
fn only(languages: &[String]) -> Option<String> {
    match languages {
        [language] => Some(language.clone()),
        _ => None,
    }
}

fn unique<'a>(languages: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for language in languages {
        if !found.contains(&language.as_str()) {
            found.push(language);
        }
    }
    found
}
