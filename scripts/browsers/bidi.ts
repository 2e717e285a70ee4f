import type { Json } from './driver.ts'

interface Answer {
  id?: number
  type: 'success' | 'error' | 'event'
  error?: string
  message?: string
  result?: unknown
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A connection that speaks WebDriver BiDi. Source: https://www.w3.org/TR/webdriver-bidi/ */
export interface BidiConnection {
  /** The result of a command; rejects with the browser's own words, or when the connection ends. */
  send(method: string, params: { [key: string]: Json }): Promise<unknown>
  close(): void
}

export function connectBidi(url: string): Promise<BidiConnection> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let isOpen = false

  function send(method: string, params: { [key: string]: Json }): Promise<unknown> {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error(`${method}: the browser is gone.`))
    return new Promise((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve, reject: (error) => reject(new Error(`${method}: ${error.message}`)) })
      socket.send(JSON.stringify({ id, method, params }))
    })
  }

  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const answer: Answer = JSON.parse(data)
    if (answer.id === undefined) return
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (answer.type === 'success') asked?.resolve(answer.result)
    else asked?.reject(new Error(`${answer.error}: ${answer.message}`))
  })
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => {
      isOpen = true
      resolve({ send, close: () => socket.close() })
    })
    socket.addEventListener('close', () => {
      if (!isOpen) reject(new Error(`No WebDriver BiDi at ${url}.`))
      for (const { reject: refuse } of waiting.values()) refuse(new Error('the browser is gone'))
      waiting.clear()
    })
  })
}
