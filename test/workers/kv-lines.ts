import type { KvNamespace } from '../../adapters/cloudflare/index.ts'
import { listKeys } from '../../adapters/cloudflare/session/kv/kv-namespace.ts'

/** Puts what `how` makes of them in place of the lines of a session, one value per line. */
export async function damageKv(namespace: KvNamespace, sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const keys = await listKeys(namespace, `s/${sessionId}/`)
  const values = new Map(await Promise.all(keys.map(async ({ name }) => [name, (await namespace.get(name)) ?? ''] as const)))
  const lines = [...values.values()].flatMap((value) => value.split('\n'))
  for (const name of values.keys()) await namespace.delete(name)
  const place = { epoch: 1, seq: 1 }
  for (const [index, line] of how(lines).entries()) {
    place.epoch = Number(/"epoch":(\d+)/.exec(line)?.[1] ?? place.epoch)
    place.seq = Number(/"seq":(\d+)/.exec(line)?.[1] ?? place.seq)
    const key = `${String(place.epoch).padStart(8, '0')}/${String(place.seq).padStart(12, '0')}-d${String(index).padStart(4, '0')}`
    await namespace.put(`s/${sessionId}/${key}`, line, { metadata: { lines: 1, chars: line.length } })
  }
}
