export const Flow = (_: any) => null;
