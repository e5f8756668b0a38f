/** Where a value stands inside another, as a program would write it: `rows[0].size`. Empty for the outermost value. */
export function valuePath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (typeof key === 'string' && !/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) text += `[${JSON.stringify(key)}]`
    else text += text === '' ? String(key) : `.${String(key)}`
  }
  return text
}
