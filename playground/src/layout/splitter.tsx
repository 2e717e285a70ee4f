import { paneWidths, resizePane, widthLimits } from '../state/layout.ts'

/** Step per arrow key press in pixels. */
const step = 24

/** The divider between two panes. Drag it, or move it with the arrow keys. */
export function Splitter({ pane, label }: { pane: keyof typeof paneWidths; label: string }) {
  const width = paneWidths[pane].value
  const [least, most] = widthLimits[pane]
  // The right pane grows to the left.
  const direction = pane === 'sessions' ? 1 : -1

  function onPointerDown(down: PointerEvent & { currentTarget: HTMLElement }): void {
    const { currentTarget: handle, clientX, pointerId } = down
    handle.setPointerCapture(pointerId)
    const move = (event: PointerEvent) => resizePane(pane, width + direction * (event.clientX - clientX))
    handle.addEventListener('pointermove', move)
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', move), { once: true })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const by = { ArrowLeft: -step, ArrowRight: step }[event.key]
    if (by === undefined) return
    event.preventDefault()
    resizePane(pane, width + direction * by)
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved is not an hr.
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  )
}
