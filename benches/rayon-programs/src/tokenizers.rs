//! Trains a byte-pair encoder on made-up text and encodes that text: `tokenizers LINES VOCABULARY`.

use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::whitespace::Whitespace;
use tokenizers::{
    DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, TokenizerBuilder, TokenizerImpl,
};

mod common;

const WORDS: usize = 12;

type Tokenizer =
    TokenizerImpl<BPE, NormalizerWrapper, Whitespace, PostProcessorWrapper, DecoderWrapper>;

fn main() -> tokenizers::Result<()> {
    let [lines, vocabulary] = common::arguments("tokenizers LINES VOCABULARY");
    let text = text(lines);
    let mut tokenizer: Tokenizer = TokenizerBuilder::new()
        .with_model(BPE::default())
        .with_pre_tokenizer(Some(Whitespace {}))
        .build()?;
    let mut trainer = BpeTrainer::builder()
        .vocab_size(vocabulary)
        .show_progress(false)
        .build();
    tokenizer.train(&mut trainer, text.iter())?;
    let encoded = tokenizer.encode_batch(text, false)?;
    let numbers = encoded.iter().flat_map(|line| line.get_ids());
    common::print_checksum(numbers.copied());
    Ok(())
}

/// Returns lines of made-up words. As in natural language, some words are far more frequent than
/// others.
fn text(lines: usize) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut letter = |among: &[u8]| char::from(among[random.usize(..among.len())]);
    let mut syllable = |_| [letter(b"bcdfghklmnprstvz"), letter(b"aeiouy")];
    // The words have one to four syllables each.
    let words: Vec<String> = (0..20_000)
        .map(|number| (0..=number % 4).flat_map(&mut syllable).collect())
        .collect();
    let mut line = |_| {
        let frequent = |_| words[(words.len() as f64 * random.f64().powi(4)) as usize].as_str();
        (0..WORDS).map(frequent).collect::<Vec<_>>().join(" ")
    };
    (0..lines).map(&mut line).collect()
}
