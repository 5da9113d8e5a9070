export const demographicsExample = {
  female: 0.64,
  male: 0.36,
  age_18_24: 0.27,
  age_25_34: 0.31,
  age_35_44: 0.19,
  age_45_54: 0.12,
  age_55_64: 0.07,
  age_65_plus: 0.04,
};
