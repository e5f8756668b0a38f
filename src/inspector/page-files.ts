/** The files of the page by name: `index.html`, `page.js`, `page.css`. */
export type PageFiles = ReadonlyMap<string, string>

let loading: Promise<PageFiles> | undefined

/** Loaded at the first request: from the package as it was built, or, in the sources, bundled now. */
export function pageFiles(): Promise<PageFiles> {
  return (loading ??= import('#inspector-page').then((module: { readonly files: () => Promise<PageFiles> }) =>
    module.files(),
  ))
}
