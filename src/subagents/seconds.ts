/** A length of time as models and users read it, in its shortest form: `30s`, `0.05s`. */
export function seconds(durationMs: number): string {
  return `${durationMs / 1_000}s`
}
