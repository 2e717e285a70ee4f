import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { Protocol, Reply } from './scenarios.ts'
import type { Line, Switchboard } from './switchboard.ts'

/** Sends `reply`, event by event, until it is complete or the client has gone. */
export async function play(reply: Reply, protocol: Protocol, line: Line & { board: Switchboard }, response: ServerResponse): Promise<void> {
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(protocol.failure(reply.message))
    return
  }
  if (response.destroyed) return // it will not close again
  line.open++
  response.once('close', () => {
    line.open--
    if (line.open === 0) for (const tell of line.whenIdle.splice(0)) tell()
  })
  response.writeHead(200, { 'content-type': protocol.contentType ?? 'text/event-stream', 'cache-control': 'no-cache' })
  const frames = protocol.frames(reply.turn).map((frame) => Buffer.from(frame))
  if (reply.damageAt !== undefined) damage(frames, reply.damageAt)
  if (reply.cut) {
    await sendCut(Buffer.concat(frames), reply.cut, response)
    return
  }
  const firstDelta = frames.findIndex((frame) => frame.includes(JSON.stringify(reply.turn.text[0])))
  for (const [index, frame] of frames.entries()) {
    response.write(frame)
    if (reply.pause && index === firstDelta) await paused(reply.pause, line, response)
    if (response.destroyed) return
    await setImmediate()
  }
  response.end()
}

/** Flips one bit of the byte that stands after `permille` of all. */
function damage(frames: Buffer[], permille: number): void {
  const total = frames.reduce((sum, frame) => sum + frame.length, 0)
  let at = Math.floor((total * permille) / 1000)
  for (const frame of frames) {
    if (at < frame.length) frame[at] = (frame[at] ?? 0) ^ 1
    at -= frame.length
    if (at < 0) return
  }
}

/** Waits for the release of this base or the end of the connection, whichever comes first. */
async function paused(pause: 'untilReleased' | 'forever', line: Line & { board: Switchboard }, response: ServerResponse): Promise<void> {
  if (response.destroyed || (pause === 'untilReleased' && line.released)) return
  await line.board.pause(
    new Promise((resolve) => {
      response.once('close', resolve)
      if (pause === 'untilReleased') line.whenReleased.push(resolve)
    }),
  )
}

/** Odd seeds tear the socket, even ones end the body politely: neither is the end of an answer. */
async function sendCut(bytes: Buffer, cut: { permille: number; seed: number }, response: ServerResponse): Promise<void> {
  const random = seeded(cut.seed)
  const end = Math.floor((bytes.length * cut.permille) / 1000)
  for (let at = 0; at < end && !response.destroyed; ) {
    const next = Math.min(end, at + 1 + Math.floor(random() * 200))
    response.write(bytes.subarray(at, next))
    at = next
    await setImmediate()
  }
  if (end === bytes.length || cut.seed % 2 === 0) response.end()
  else response.destroy()
}

/** Numbers in [0, 1) that depend on `seed` alone (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
