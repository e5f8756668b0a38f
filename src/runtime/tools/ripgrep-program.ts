/** The program of the package, absolute; `undefined`: it is not installed for this system. */
export async function packagedRipgrep(): Promise<string | undefined> {
  return import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => undefined,
  )
}
