/** A part of the code in one color. `token` is a class in the style sheet. */
export interface Piece {
  text: string
  token: string
}

/** A request to the worker. It responds with lines of parts, or `undefined`. */
export interface CodeToColour {
  code: string
  language: string
}

/** Limits for highlighting. Longer code stays plain, and so does code that takes longer. */
const longestCode = 20_000
const longestMs = 5000

let worker: Worker | undefined
let before: Promise<unknown> = Promise.resolve()

/** Returns code as lines of colored parts, or `undefined` if it stays plain. Works serially, so that only slow code times out. */
export function highlighted(asked: CodeToColour): Promise<Piece[][] | undefined> {
  if (asked.code.length > longestCode) return Promise.resolve(undefined)
  const found = before.then(() => askWorker(asked))
  before = found
  return found
}

function askWorker(asked: CodeToColour): Promise<Piece[][] | undefined> {
  worker ??= new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  const thread = worker
  return new Promise((resolve) => {
    const giveUp = () => {
      thread.terminate()
      worker = undefined
      resolve(undefined)
    }
    const timer = setTimeout(giveUp, longestMs)
    thread.onerror = () => {
      clearTimeout(timer)
      giveUp()
    }
    thread.onmessage = ({ data }: MessageEvent<Piece[][] | undefined>) => {
      clearTimeout(timer)
      resolve(data)
    }
    thread.postMessage(asked)
  })
}
