/// The frequencies of letter pairs in text written by people, counted in 1.7 million words of programs and their manuals.
enum LetterPairs {
  /// A row for the first letter, a column for the second: from 0, never, to 9, more than ten times as often as in random text.
  private static let frequencies: StaticString = """
    06760250604867050878432240 \
    50215000420610410430500020 \
    70407107506521820537510010 \
    51248100700401510352400010 \
    73785641301668364987153730 \
    40115500700401510433400020 \
    30106023500324310441300001 \
    60006000500000500313200000 \
    55655550001769750577050404 \
    00002000000000100000100000 \
    10006000300101000030001000 \
    71158200700701720055410050 \
    73017000600240570042300000 \
    60677480503314620078540020 \
    34661440304668560866645100 \
    70227102500601650735400030 \
    00000000000000000000500000 \
    72449340703455730666421050 \
    50518115703322551278602040 \
    71439207800431640765502050 \
    44425330400657250666000000 \
    50007000400000200000000000 \
    50114003500003400330000000 \
    10303000300000040005000100 \
    00002000200122140033000000 \
    00004000200000000000000000
    """

  /// The logarithm, times 100, of the likelihood that the pair was written by a person relative to random text; limited, so that
  /// no single pair decides. Both letters are in lower case.
  static func score(_ first: UInt8, _ second: UInt8) -> Int {
    let index = Int(first - UInt8(ascii: "a")) * 27 + Int(second - UInt8(ascii: "a"))
    return Int(frequencies[index] - UInt8(ascii: "0")) * 53 - 220
  }
}
