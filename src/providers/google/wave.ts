/** Samples per second of sound that names none. */
const usualRate = 24_000
/** Bytes before the samples: a multiple of three, so that the base64 of both can be joined. */
const headBytes = 54

/** Whether sound is bare samples, which the service sends and does not take. */
export function isBareSound(mimeType: string): boolean {
  return /^audio\/(l16|pcm)\b/i.test(mimeType)
}

/** Returns bare samples (16 bits, one channel, as base64) as a WAV file. */
export function waveOf(mimeType: string, samples: string): string {
  const bytes = (samples.length / 4) * 3 - (/=*$/.exec(samples)?.[0].length ?? 0)
  const rate = Number(/rate=(\d+)/i.exec(mimeType)?.[1] ?? usualRate)
  const head = new DataView(new ArrayBuffer(headBytes))
  const name = (at: number, text: string) => {
    for (let index = 0; index < text.length; index++) head.setUint8(at + index, text.charCodeAt(index))
  }
  name(0, 'RIFF')
  head.setUint32(4, headBytes - 8 + bytes, true)
  name(8, 'WAVEfmt ')
  head.setUint32(16, 16, true)
  head.setUint16(20, 1, true)
  head.setUint16(22, 1, true)
  head.setUint32(24, rate, true)
  head.setUint32(28, rate * 2, true)
  head.setUint16(32, 2, true)
  head.setUint16(34, 16, true)
  // Readers pass over it.
  name(36, 'JUNK')
  head.setUint32(40, 2, true)
  name(46, 'data')
  head.setUint32(50, bytes, true)
  return btoa(String.fromCharCode(...new Uint8Array(head.buffer))) + samples
}
