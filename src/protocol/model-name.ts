/** The two parts of `provider/model`. A name without a slash is both: a provider with one model. */
export function parseModel(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf('/')
  return slash < 0 ? { provider: name, model: name } : { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}
