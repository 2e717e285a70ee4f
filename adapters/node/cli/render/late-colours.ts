import type { Painter } from '../terminal/paint.ts'
import type { CodeColours, ColourTime } from './code-colours.ts'

let loaded: typeof import('./code-colours.ts') | undefined

/** Loads what colours code, where there are colours: nobody waits for it before there is something to read. */
export async function loadColours({ hasColours }: Painter): Promise<void> {
  if (hasColours) loaded ??= await import('./code-colours.ts')
}

/** Colours for the code behind a fence, by what stands beside it; `undefined` for a language that is not known, and before they are loaded. */
export function coloursFor(fence: string, time: ColourTime): CodeColours | undefined {
  const name = /^\s*\{?\.?([\w+#-]{1,20})/.exec(fence)?.[1] ?? ''
  return loaded?.coloursOf(name.toLowerCase(), time)
}
