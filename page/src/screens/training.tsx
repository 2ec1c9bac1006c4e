export const Training = (_: any) => null;
