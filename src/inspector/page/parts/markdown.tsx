import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { useMemo } from 'preact/hooks'
import { LongText } from './long-text.tsx'
import { readable } from './readable.ts'

/** A longer text is shown as it is: laying it out would hold up the page. */
const maxChars = 40_000
const maxKept = 400

/** Text of a model or a person, as Markdown. HTML in it is text, and images are those of the data alone. */
export function Markdown({ label, text }: { readonly label: string; readonly text: string }) {
  const isShort = text.length <= maxChars
  const html = useMemo(() => (isShort ? htmlOf(text) : ''), [text])
  if (!isShort) return <LongText label={label} text={text} />
  // Made by `htmlOf`, which lets through what is listed below and nothing else.
  // oxlint-disable-next-line react/no-danger
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
}

const kept = new Map<string, string>()

function htmlOf(text: string): string {
  const known = kept.get(text)
  if (known !== undefined) return known
  const html = DOMPurify.sanitize(marked.parse(readable(text)) as string, allowed)
  kept.set(text, html)
  for (const [first] of kept) if (kept.size > maxKept) kept.delete(first)
  return html
}

const allowed = {
  ALLOWED_TAGS: 'a blockquote br code del em hr img li ol p pre span strong table tbody td th thead tr ul'.split(' '),
  ALLOWED_ATTR: ['align', 'alt', 'class', 'href', 'rel', 'src', 'start', 'tabindex', 'target', 'title'],
  // Their values are no addresses.
  ADD_URI_SAFE_ATTR: ['align', 'rel', 'start', 'tabindex', 'target'],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|data:image\/)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
}

/** What a link may lead to. Others, such as `javascript:`, are text. */
const safeLink = /^(?:https?:\/\/|mailto:)/i
const dataImage = /^data:image\/(?:avif|gif|jpeg|png|svg\+xml|webp)[;,]/i

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    // Long lines are scrolled to by the keyboard too.
    code: ({ text }: Tokens.Code) => `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>`,
    image({ href, text, title }: Tokens.Image) {
      if (dataImage.test(href)) return `<img src="${escaped(href)}" alt="${escaped(text)}">`
      // Loading it would tell its place that the conversation is read.
      return `<span class="unloaded" title="${escaped(title ?? 'Images of other places are not loaded')}">${escaped(text)} ${escaped(href)}</span>`
    },
    link({ href, title, tokens }: Tokens.Link) {
      const content = this.parser.parseInline(tokens)
      if (!safeLink.test(href)) return `${content} <span class="unloaded">${escaped(href)}</span>`
      return `<a href="${escaped(href)}" title="${escaped(title ?? href)}" target="_blank" rel="noopener noreferrer">${content}</a>`
    },
    // A heading of a message is none of the page.
    heading({ depth, tokens }: Tokens.Heading) {
      return `<p class="heading heading-${depth}">${this.parser.parseInline(tokens)}</p>`
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
})

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
