import type { Json } from './driver.ts'

/** A click as WebDriver describes it, BiDi and classic alike. */
export function clickActions(x: number, y: number): Json {
  const actions = [
    { type: 'pointerMove', x: Math.round(x), y: Math.round(y) },
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ]
  return [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }]
}

/** Keys as WebDriver describes them: each pressed and released. */
export function keyActions(keys: string): Json {
  const actions = [...keys].flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ])
  return [{ type: 'key', id: 'keyboard', actions }]
}
