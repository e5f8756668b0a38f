import { createHash } from 'node:crypto'
import { version } from '../base/version.ts'
import { pageFiles } from '../inspector/page-files.ts'
import { rawComponents } from '../inspector/reading/raw-view.ts'
import type { SavedPage } from '../inspector/reading/saved-page.ts'
import { knownComponents } from '../world/inspection.ts'
import { runFacts, type RunFactsDetails } from './run-facts.ts'
import type { SimulationResult } from './simulate.ts'

/**
 * The inspector's page with a run inside: one file of HTML that opens from the disk, and asks nothing of any other place. A CI job
 * can keep it.
 * @throws `invalid-argument` where no ticks are kept: with `onTrace`
 */
export async function timelinePage(result: SimulationResult, details: RunFactsDetails = {}): Promise<string> {
  const worlds = result.recorded()
  const run = runFacts(result, details)
  const title = `${result.world.name}, seed ${run.seed}`
  const known = new Map(
    [...result.worlds.values()].flatMap(({ world }) => {
      return Array.from(knownComponents(world), (token) => [token.name, token] as const)
    }),
  )
  const source: SavedPage['source'] = {
    kind: 'run',
    title,
    version,
    can: { act: false, fork: false, drivers: [] },
    components: rawComponents(known.values()),
    run,
  }
  return pageWith({ source, worlds }, `${title}: ${result.ok ? 'every law held' : 'a law was broken'}`)
}

async function pageWith(saved: SavedPage, title: string): Promise<string> {
  const files = await pageFiles()
  const [page = '', script = '', style = ''] = ['index.html', 'page.js', 'page.css'].map((name) => files.get(name))
  const inlined = script.replaceAll('</script', String.raw`<\/script`)
  const styles = style.replaceAll('</style', String.raw`<\/style`)
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(inlined)}'`,
    `style-src '${hashOf(styles)}'`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const data = `<script type="application/json" id="saved">${embedded(saved)}</script>`
  return replaced(page, [
    [/<title>.*<\/title>/, `<title>${escaped(title)}</title>`],
    [
      /<meta charset="utf-8" \/>/,
      `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    ],
    [/<link rel="stylesheet"[^>]*>/, `<style>${styles}</style>`],
    [/<script type="module"[^>]*><\/script>/, `${data}\n    <script type="module">${inlined}</script>`],
  ])
}

/** A function gives each part, since `$` in a replacement means something. */
function replaced(page: string, parts: readonly (readonly [RegExp, string])[]): string {
  return parts.reduce((text, [place, part]) => text.replace(place, () => part), page)
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** JSON that cannot end a script element. */
function embedded(data: unknown): string {
  return JSON.stringify(data)
    .replaceAll('<', String.raw`\u003c`)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}
