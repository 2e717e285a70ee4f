import { checkOptions } from '../../contract/shape/read.ts'
import { either, oneOf, withMethods } from '../../contract/shape/shape.ts'
import { type EndOfUnit, endOfLine, endOfSegment, endOfWord } from './end-of-unit.ts'
import { TextReveal } from './text-reveal.ts'

/** Value of the `smooth` option, created by `smoothText`. Each store starts a separate reveal. */
export type TextSmoothing = (publish: () => void) => TextReveal

const aUnit = either(oneOf('word', 'line'), withMethods('an Intl.Segmenter', 'segment'))

/**
 * Creates a value for the `smooth` option of `createStore` and `createChat`. Streamed text and thinking then appear at an even pace, one
 * `unit` at a time: a word, a line, or a segment of an `Intl.Segmenter`.
 *
 * **Contract**
 * - A complete unit appears within 250 ms of its arrival. An incomplete unit that stops growing appears after one second.
 * - For text, listeners run at most once per animation frame, or every 16 ms without frames.
 * - Any other event shows all received text in the same notification. Text therefore never lags behind a tool call, an approval, the next
 *   block or the end of the message.
 * - Text in a stored conversation, or received before the store was created, appears immediately.
 * - All text appears immediately in a hidden tab, without listeners, and if the user prefers reduced motion.
 * - A unit never ends inside a grapheme cluster. Without `Intl.Segmenter`, words end at white space and after ideographs.
 * - Only the streaming message's last block is delayed. `seq`, `getOutput()` and all other state are current.
 *
 * Throws `ConfigError` for any other unit.
 *
 * Source: docs/guides/frameworks.md
 */
export function smoothText(unit: 'word' | 'line' | Intl.Segmenter): TextSmoothing {
  checkOptions(unit, aUnit, 'unit')
  const endOfUnit = unitOf(unit)
  return (publish) => new TextReveal(endOfUnit, publish)
}

function unitOf(unit: 'word' | 'line' | Intl.Segmenter): EndOfUnit {
  if (unit === 'line') return endOfLine
  return unit === 'word' ? endOfWord() : endOfSegment(unit)
}
