// Values kept within a bound of bytes, the least recently used away first.
export class Lru<T> {
  private readonly kept = new Map<string, { value: T; cost: number }>();
  private total = 0;

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    const entry = this.kept.get(key);
    if (!entry) return undefined;
    this.kept.delete(key);
    this.kept.set(key, entry);  // to the young end
    return entry.value;
  }

  set(key: string, value: T, cost: number): void {
    this.delete(key);
    this.kept.set(key, { value, cost });
    this.total += cost;
    for (const old of this.kept.keys()) {
      if (this.total <= this.most || this.kept.size === 1) break;
      this.delete(old);
    }
  }

  delete(key: string): void {
    const entry = this.kept.get(key);
    if (!entry) return;
    this.total -= entry.cost;
    this.kept.delete(key);
  }
}
