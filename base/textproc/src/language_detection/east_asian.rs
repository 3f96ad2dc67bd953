//! Chinese and Japanese: kana are Japanese, and some Chinese characters are common in only one of
//! the two languages.

use super::CODES;
use super::sample::Sample;

/// A text with at most this many Chinese characters for each kana is Japanese. Names and titles
/// have few kana, but a Chinese text may contain a Japanese name.
const CHARACTERS_PER_KANA: usize = 20;

/// Characters that are common in Japanese and rare in Chinese of both scripts: created in Japan, or
/// simplified in another way than in China.
const JAPANESE: &str = "々込働畑峠駅図円広気売読両対戦専応択沢浜渋桜竜鉄塩駆権検験険剣労栄営厳県帰拡拠掲捜揺斎歩毎渓\
    満焼黒歴済黙発経継続絵総緑縄脳臓芸薬蔵観覚説譲釈鋭録隣雑霊頼顔髪鶏麺";

/// Characters that are common in Chinese and rare in Japanese: simplified ones, and frequent words
/// that Japanese writes differently.
const CHINESE: &str = "们这吗说时对为开关见现发经过还进运动车东长门问间话语请谢谁认识让边远风飞马鸟鱼龙电脑视频书买卖\
    贵钱银铁错误应该觉从给别没么怎样哪你她它很吧呢啊呀嘛跟坏页击载图热爱亲這嗎說國對發經關讓邊賣錢\
    鐵應覺從來沒麼樣腦們";

/// Frequent characters that the two scripts of Chinese write differently: each in simplified
/// Chinese, then in traditional Chinese.
const SIMPLIFIED_AND_TRADITIONAL: &str = "这這个個们們来來时時为為国國对對说說还還过過会會开開关關没沒与與经經学學动動话話钱錢点點车車\
    东東长長门門问問间間电電视視买買卖賣让讓边邊远遠风風飞飛马馬鸟鳥鱼魚龙龍写寫书書谁誰认認识識贵貴银銀铁鐵错錯误誤应應该該觉覺从從给給样樣\
    红紅绿綠机機场場头頭发發现現实實树樹叶葉见見进進运運语語请請谢謝脑腦频頻么麼谈談讲講听聽读讀课課题題爱愛亲親热熱坏壞页頁击擊载載图圖\
    园園后後里裡几幾岁歲万萬亿億种種业業产產务務员員处處条條约約级級结結线線组組统統计計设設许許论論证證评評词詞试試诗詩详詳负負责責财財货貨\
    质質费費资資赛賽赶趕达達迁遷选選逊遜递遞钟鐘铃鈴链鏈镇鎮闭閉闻聞队隊阳陽阴陰际際陆陸难難双雙离離云雲灵靈静靜须須顾顧顿頓预預领領颗顆颜顏额額";

/// Returns `zh-Hant` if the text has more characters of traditional than of simplified Chinese,
/// otherwise `zh-Hans`.
pub(super) fn chinese_script(sample: &Sample) -> &'static str {
    let words = sample.all_words();
    // Simplified characters less traditional ones.
    let mut balance = 0i64;
    for character in words.iter().flat_map(|word| word.chars()) {
        match SIMPLIFIED_AND_TRADITIONAL.chars().position(|known| known == character) {
            Some(index) if index % 2 == 0 => balance += 1,
            Some(_) => balance -= 1,
            None => {}
        }
    }
    if balance < 0 { "zh-Hant" } else { "zh-Hans" }
}

/// Returns the index of the more likely of Chinese and Japanese, and a confidence from 0 to 1.
/// `length` is the confidence that the number of letters allows. Enough kana double it, because no
/// other language has them.
pub(super) fn decide(sample: &Sample, length: f64) -> (usize, f64) {
    fn index_of(code: &str) -> usize {
        CODES.iter().position(|(_, known)| *known == code).unwrap_or(0)
    }
    let (kana, characters) = sample.kana_and_characters();
    if kana > 0 && kana * CHARACTERS_PER_KANA >= characters {
        return (index_of("ja"), (length * 2.0).min(1.0));
    }
    let words = sample.all_words();
    let [japanese, chinese] = [JAPANESE, CHINESE].map(|list| {
        words.iter().flat_map(|word| word.chars()).filter(|&c| list.contains(c)).count()
    });
    let margin = japanese.abs_diff(chinese) as f64 / (japanese + chinese).max(1) as f64;
    let language = if japanese > chinese { "ja" } else { "zh" };
    (index_of(language), length * (0.5 + margin / 2.0))
}
