//! Stop words: words that say little about the topic of a text. The English list contains
//! articles, pronouns, prepositions, conjunctions, auxiliary verbs and conjunctive adverbs.
//! Model files refer to it by name, so it must never change.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which words are left out.
///
/// ```
/// use abduce::text::StopWords;
/// assert!(StopWords::named("english")?.words().any(|word| word == "the"));
/// assert!(StopWords::named("klingon").is_err());
/// # Ok::<(), abduce::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopWords {
    /// No words.
    #[default]
    None,
    /// The list for English.
    English,
    /// These words.
    List(Vec<String>),
}

impl StopWords {
    /// The list with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(StopWords::None),
            "english" => Ok(StopWords::English),
            _ => Err(
                Error::parameter(format!("there are no stop words named \"{name}\""))
                    .with_hint("name \"english\" or \"none\", or a file of words"),
            ),
        }
    }

    /// The words of a file, separated by white space.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::from(error).at_file(path.display().to_string()))?;
        let words = text.split_whitespace().map(str::to_string).collect();
        Ok(StopWords::List(words))
    }

    /// The words, in no particular order.
    pub fn words(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            StopWords::None => Box::new(std::iter::empty()),
            StopWords::English => Box::new(ENGLISH.split_whitespace()),
            StopWords::List(words) => Box::new(words.iter().map(String::as_str)),
        }
    }
}

const ENGLISH: &str = "
    a an the this that these those such same other another each every either neither both all any some none few many
    much more most several enough own
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves one ones oneself
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing
    who whom whose which what whoever whatever whichever when where why how whenever wherever however
    be am is are was were been being have has had having do does did doing done
    can could may might must shall should will would ought
    isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't cannot couldn't mustn't shan't
    shouldn't won't wouldn't ain't
    i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
    i'll you'll he'll she'll we'll they'll that's there's here's what's who's where's how's let's
    and or but nor so yet if unless because since while whereas although though as than whether until till lest
    of in on at by for with without within to from into onto upon up down out off over under above below between
    among amongst through throughout during before after against about around across along behind beside besides
    beyond near toward towards via per except despite
    not no only just also too very quite rather even still already again ever never once then there here now
    thus therefore hence else instead otherwise almost perhaps maybe often always sometimes somehow somewhere
    anywhere everywhere nowhere further moreover furthermore meanwhile
";
