export const Inputs = (_: any) => null;
