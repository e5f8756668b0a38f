/**
 * Is a part of what only a provider reads the content of a file, in base64: an image that it made, a document that it fetched, or a
 * `data:` address? For replacers of `JSON.stringify`.
 */
export function isFileInData(holder: object, key: string, value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  const { type } = holder as { readonly type?: unknown }
  if (type === 'image_generation_call' ? key === 'result' : type === 'base64' && key === 'data') return true
  return /^data:[^,]{0,200};base64,/.test(value)
}
