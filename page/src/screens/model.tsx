export const ModelScreen = (_: any) => null;
