//! Chinese and Japanese: kana are Japanese, and some Chinese characters occur in only one of the
//! two languages.

use super::CODES;
use super::sample::Sample;

/// The maximum number of Chinese characters per kana: names and titles have few kana.
const CHARACTERS_PER_KANA: usize = 20;

/// Characters that occur only in Japanese: created there, or simplified in another way.
const JAPANESE: &str = "々込働畑峠駅図円広気売読両対戦専応択沢浜渋桜竜鉄塩駆駐権検験険剣労栄営厳県帰拡拠掲捜揺斎\
    歩毎海渓満焼黒歴残毒済湿無黙発経継続絵総緑縄脳臓芸薬蔵観覚説譲釈鋭録隣雑霊頼顔題類髪鶏麺笑";

/// Characters that occur only in Chinese: simplified ones, and frequent words that Japanese writes
/// differently.
const CHINESE: &str = "们这吗说时对为开关见现发经过还进运动车东长门问间话语请谢谁认识让边远风飞马鸟鱼龙电脑视频书买卖\
    贵钱银铁错误应该觉从给别没么怎样哪你她它很吧呢啊呀嘛跟坏页击载图热爱亲们這嗎說國對發經關讓邊賣\
    錢鐵應覺從來沒麼樣腦們";

/// Decides between Chinese and Japanese, with a confidence from 0 to 1; `length` is the maximum
/// confidence for a text of this length.
pub(super) fn decide(sample: &Sample, length: f64) -> (usize, f64) {
    fn place(code: &str) -> usize {
        CODES.iter().position(|(_, known)| *known == code).unwrap_or(0)
    }
    let (kana, characters) = sample.kana_and_characters();
    if kana > 0 && kana * CHARACTERS_PER_KANA >= characters {
        return (place("ja"), (length * 2.0).min(1.0));
    }
    let words = sample.all_words();
    let [japanese, chinese] = [JAPANESE, CHINESE].map(|list| {
        words.iter().flat_map(|word| word.chars()).filter(|&c| list.contains(c)).count()
    });
    let margin = japanese.abs_diff(chinese) as f64 / (japanese + chinese).max(1) as f64;
    let language = if japanese > chinese { "ja" } else { "zh" };
    (place(language), length * (0.5 + margin / 2.0))
}
