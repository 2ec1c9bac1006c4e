export const Diagnosis = (_: any) => null;
