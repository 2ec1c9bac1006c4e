export const Tensors = (_: any) => null;
