#if Combine
import Foundation
import PreferenceStoreCombine

// A program with fifty settings in one object, as for its settings view.

final class FiftySettings: ObservableObject {
  @AppStorage("setting0") var setting0: Bool = false
  @AppStorage("setting1") var setting1: Int = 1
  @AppStorage("setting2") var setting2: Double = 2.5
  @AppStorage("setting3") var setting3: String = "3"
  @AppStorage("setting4") var setting4: Options = .b
  @AppStorage("setting5") var setting5: Bool = false
  @AppStorage("setting6") var setting6: Int = 6
  @AppStorage("setting7") var setting7: Double = 7.5
  @AppStorage("setting8") var setting8: String = "8"
  @AppStorage("setting9") var setting9: Options = .b
  @AppStorage("setting10") var setting10: Bool = false
  @AppStorage("setting11") var setting11: Int = 11
  @AppStorage("setting12") var setting12: Double = 12.5
  @AppStorage("setting13") var setting13: String = "13"
  @AppStorage("setting14") var setting14: Options = .b
  @AppStorage("setting15") var setting15: Bool = false
  @AppStorage("setting16") var setting16: Int = 16
  @AppStorage("setting17") var setting17: Double = 17.5
  @AppStorage("setting18") var setting18: String = "18"
  @AppStorage("setting19") var setting19: Options = .b
  @AppStorage("setting20") var setting20: Bool = false
  @AppStorage("setting21") var setting21: Int = 21
  @AppStorage("setting22") var setting22: Double = 22.5
  @AppStorage("setting23") var setting23: String = "23"
  @AppStorage("setting24") var setting24: Options = .b
  @AppStorage("setting25") var setting25: Bool = false
  @AppStorage("setting26") var setting26: Int = 26
  @AppStorage("setting27") var setting27: Double = 27.5
  @AppStorage("setting28") var setting28: String = "28"
  @AppStorage("setting29") var setting29: Options = .b
  @AppStorage("setting30") var setting30: Bool = false
  @AppStorage("setting31") var setting31: Int = 31
  @AppStorage("setting32") var setting32: Double = 32.5
  @AppStorage("setting33") var setting33: String = "33"
  @AppStorage("setting34") var setting34: Options = .b
  @AppStorage("setting35") var setting35: Bool = false
  @AppStorage("setting36") var setting36: Int = 36
  @AppStorage("setting37") var setting37: Double = 37.5
  @AppStorage("setting38") var setting38: String = "38"
  @AppStorage("setting39") var setting39: Options = .b
  @AppStorage("setting40") var setting40: Bool = false
  @AppStorage("setting41") var setting41: Int = 41
  @AppStorage("setting42") var setting42: Double = 42.5
  @AppStorage("setting43") var setting43: String = "43"
  @AppStorage("setting44") var setting44: Options = .b
  @AppStorage("setting45") var setting45: Bool = false
  @AppStorage("setting46") var setting46: Int = 46
  @AppStorage("setting47") var setting47: Double = 47.5
  @AppStorage("setting48") var setting48: String = "48"
  @AppStorage("setting49") var setting49: Options = .b
}
#endif
