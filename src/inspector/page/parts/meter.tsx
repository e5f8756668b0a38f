/** A part of a whole, as a bar. */
export function Meter(props: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly state?: string
}) {
  const { label, max, state, value } = props
  const share = max <= 0 ? 0 : Math.max(0, Math.min(1, value / max))
  return (
    <span
      class="meter"
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={max}
      data-state={state}
    >
      <i style={{ width: `${share * 100}%` }} />
    </span>
  )
}
