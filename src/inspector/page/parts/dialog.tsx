import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Action, Problem } from '../../reading/wire.ts'
import { connection, problemOf } from '../data/state.ts'

interface DialogProps {
  readonly title: string
  readonly action: Action
  readonly isWrong: boolean
  readonly isDanger?: boolean
  readonly children: ComponentChildren
  readonly onClose: () => void
  readonly onDone?: (world: string | undefined) => void
}

/** A form that sends one action. It stays open with what was wrong. */
export function Dialog({ action, children, isDanger = false, isWrong, onClose, onDone, title }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>('textarea, input, select')?.focus()
  }, [])
  const send = async (event: Event) => {
    event.preventDefault()
    setSending(true)
    try {
      const { world } = await connection.post<{ readonly world?: string }>('act', action)
      onDone?.(world)
      onClose()
    } catch (error) {
      setProblem(problemOf(error))
      setSending(false)
    }
  }
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-label={title}
      onClose={onClose}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <form onSubmit={(event) => void send(event)}>
        <h2>{title}</h2>
        {children}
        {problem !== undefined && (
          <p class="bad" role="alert">
            {problem.message}
          </p>
        )}
        <footer>
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Back
          </button>
          <button
            type="submit"
            class={isDanger ? 'button is-danger' : 'button is-main'}
            disabled={isWrong || isSending}
          >
            {isSending ? 'Sending…' : title}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
