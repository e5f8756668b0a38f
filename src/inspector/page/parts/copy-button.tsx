import { useEffect, useState } from 'preact/hooks'

/** Copies a text, which is made when it is asked for. */
export function CopyButton({ of, title }: { readonly title: string; readonly of: () => string }) {
  const [done, setDone] = useState<'copied' | 'refused' | undefined>(undefined)
  useEffect(() => {
    if (done === undefined) return undefined
    const timer = setTimeout(() => setDone(undefined), 1_500)
    return () => clearTimeout(timer)
  }, [done])
  const copy = () => {
    navigator.clipboard.writeText(of()).then(
      () => setDone('copied'),
      () => setDone('refused'),
    )
  }
  return (
    <>
      <button type="button" class="button copy" onClick={copy}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={done === 'copied' ? 'm3.5 8.5 3 3 6-7' : 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z'} />
        </svg>
        {title}
      </button>
      <span class={done === 'refused' ? 'bad' : 'hidden'} role="status">
        {done === 'copied' && `${title} is copied`}
        {done === 'refused' && 'The browser does not allow it here'}
      </span>
    </>
  )
}
