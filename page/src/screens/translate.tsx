export const Translate = (_: any) => null;
