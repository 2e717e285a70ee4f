/** A piece of code in one colour: `token` names a class of the style sheet. */
export interface Piece {
  text: string
  token: string
}

/** A request to the worker. It responds with lines of parts, or `undefined`. */
export interface CodeToColour {
  code: string
  language: string
}

/** Longer code stays plain, and so does code that takes longer. */
const longestCode = 20_000
const longestMs = 5000

let worker: Worker | undefined
let before: Promise<unknown> = Promise.resolve()

/** Returns code as lines of colored parts; `undefined` if it stays plain. Serial, so that only slow code is given up. */
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
