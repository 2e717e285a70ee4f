import { emitKeypressEvents } from 'node:readline'
import { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { answerBeginning, withoutAnswers } from './paint.ts'
import { PasteReader } from './paste.ts'

/** A key, named as in `node:readline`. */
export interface Key {
  name?: string
  sequence?: string
  ctrl?: boolean
  meta?: boolean
  shift?: boolean
}

/** Handles terminal input. */
export interface KeyListener {
  key(text: string, key: Key): void
  pasted(text: string, isCut: boolean): void
  /** The terminal has reported whether its background is light. */
  background(isLight: boolean): void
  /** The input has ended. */
  end(): void
}

/** Matches the start of a key sequence or paste mark, which may continue in the next chunk. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const beginning = /\x1b(?:\[[\d;:]*)?$/

/** Milliseconds to wait for the rest of a sequence. Without a rest, its start is a key: Escape, or Alt-[. */
const longestGap = 100

/** Reads keys and pastes from a terminal until the returned function is called. A sequence may be split over chunks at any place. */
export function readKeys(terminal: Readable, on: KeyListener): () => void {
  const keys = new Readable({ read: () => undefined })
  emitKeypressEvents(keys)
  keys.on('keypress', (text: string | undefined, key: Key | undefined) => on.key(text ?? '', key ?? {}))
  const reader = new PasteReader({
    typed: (text) => keys.emit('data', Buffer.from(legacyKeys(withoutAnswers(text, (isLight) => on.background(isLight))))),
    pasted: (text, isCut) => on.pasted(text, isCut),
  })
  let held = ''
  let gap: NodeJS.Timeout | undefined
  const flush = (): void => {
    const text = held
    held = ''
    reader.push(text)
  }
  const decoder = new StringDecoder('utf8')
  const read = (chunk: Buffer): void => {
    clearTimeout(gap)
    const text = held + decoder.write(chunk)
    held = (answerBeginning.exec(text) ?? beginning.exec(text))?.[0] ?? ''
    reader.push(text.slice(0, text.length - held.length))
    if (held !== '') gap = setTimeout(flush, longestGap)
  }
  const end = (): void => on.end()
  terminal.on('data', read).on('end', end).on('error', end)
  // An earlier reader has paused the stream.
  terminal.resume()
  return () => {
    clearTimeout(gap)
    terminal.off('data', read).off('end', end).off('error', end)
    terminal.pause()
  }
}

/** Keys in kitty's keyboard protocol, and in xterm with `modifyOtherKeys`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals send
const newKeys = /\x1b\[(?:(\d+)(?::\d*)*(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u|27;(\d+);(\d+)~)/g

/** The same keys in classic sequences. Keys without one are omitted. */
function legacyKeys(text: string): string {
  return text.replace(newKeys, (_, code?: string, modifiers?: string, kind?: string, xtermModifiers?: string, xtermCode?: string) => {
    // A key release.
    if (kind === '3') return ''
    return legacyKey(Number(code ?? xtermCode), Number(modifiers || xtermModifiers || 1) - 1)
  })
}

function legacyKey(code: number, modifiers: number): string {
  const [isShift, isAlt, isControl] = [1, 2, 4].map((bit) => (modifiers & bit) !== 0)
  if (code > 0xe000 || code < 8) return ''
  // Shift-Enter is Alt-Enter.
  if (code === 13) return isShift || isAlt || isControl ? '\x1b\r' : '\r'
  if (code === 9 && isShift) return '\x1b[Z'
  const plain = String.fromCodePoint(code)
  const typed = isControl && /[a-z@[\\\]^_ ]/i.test(plain) ? String.fromCharCode(plain.toUpperCase().charCodeAt(0) & 31) : plain
  return `${isAlt ? '\x1b' : ''}${typed}`
}
