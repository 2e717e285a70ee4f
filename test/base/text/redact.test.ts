import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutSecret } from '../../../src/base/text/redact.ts'
import { seeded } from '../../providers/bytes.ts'
import { runs } from '../../support/runs.ts'

const key = 'sk-ant-Api03_canary+0123/45==wxYZ'
const hexOf = (text: string) => Buffer.from(text).toString('hex')
const html = (text: string) => text.replace(/[^a-z0-9]/gi, (char) => `&#${char.charCodeAt(0)};`)
const htmlHex = (text: string) => text.replace(/./g, (char) => `&#x${char.charCodeAt(0).toString(16)};`)
const unicode = (text: string) => text.replace(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
const slashes = (text: string) => text.replaceAll('/', '\\/')
const split = (text: string) => text.match(/.{1,5}/g)?.join(' \n') ?? ''

const forms: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  base64: btoa,
  'base64 without padding': (text) => btoa(text).replaceAll('=', ''),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 of a pair': (text) => btoa(`user:${text}`),
  'base64 of a pair, and the like': (text) => btoa(`{"k":"${text}","more":true}`),
  'base64 in lines': (text) => split(btoa(`Bearer ${text}`)),
  'base64 behind a word': (text) => `Basic${btoa(`me:${text}`)}`,
  'base64 of base64': (text) => btoa(btoa(text)),
  hex: hexOf,
  'hex in capitals': (text) => hexOf(text).toUpperCase(),
  'hex behind a digit': (text) => `0${hexOf(text)}`,
  'hex of base64': (text) => hexOf(btoa(text)),
  JSON: (text) => slashes(JSON.stringify(text)),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(slashes(text))),
  'JSON in numbers': unicode,
  HTML: html,
  'HTML in hex': htmlHex,
  'HTML of a URL': (text) => html(encodeURIComponent(text)),
  'a URL': encodeURIComponent,
  'a query': (text) => new URLSearchParams({ text }).toString(),
  'a URL in a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  'base64 in a URL': (text) => encodeURIComponent(btoa(text)),
  'split by white space': split,
  'a buffer as JSON': (text) => JSON.stringify(Buffer.from(text)),
  'a list of bytes behind words': (text) => `data,${[...Buffer.from(text)].join(', ')}`,
  'a list of bytes in hex': (text) => [...Buffer.from(text)].map((byte) => `0x${byte.toString(16)}`).join(', '),
  'a dump': (text) => `code:${(hexOf(text).match(/../g) ?? []).join(':')}`,
  'characters of two bytes': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  'octal numbers': (text) => [...Buffer.from(text)].map((byte) => `\\${byte.toString(8)}`).join(''),
  'a list of the bytes of base64': (text) => [...Buffer.from(btoa(text))].join(','),
  'a letter at a time': (text) => [...text].join(' '),
}

/** Every way in which eight characters of `secret` can be read in `text` by somebody who knows only one of the encodings. */
function isReadable(text: string, secret: string): boolean {
  const lower = text.toLowerCase()
  for (let at = 0; at + 8 <= secret.length; at++) if (lower.includes(secret.slice(at, at + 8).toLowerCase())) return true
  return false
}

describe('withoutSecret', () => {
  it.each(Object.entries(forms))('redacts a key: %s', (_name, form) => {
    const shown = withoutSecret(`Incorrect key (${form(key)}), try again.`, key)
    expect(shown).toMatch(/^Incorrect key \(.*\[redacted\].*\), try again\.$/s)
    const rest = shown.replaceAll('[redacted]', '').replace(/^Incorrect key \(|\), try again\.$/g, '')
    expect(rest.length).toBeLessThan(40)
    expect(isReadable(rest, key)).toBe(false)
  })

  it.each([8, 12, 20])('redacts a part of %i characters', (length) => {
    const shown = withoutSecret(`You sent ${key.slice(5, 5 + length)}****.`, key)
    expect(shown).toBe('You sent [redacted]****.')
  })

  it('redacts a part in base64', () => {
    const shown = withoutSecret(`You sent ${btoa(key).slice(0, 20)}...`, key)
    expect(shown).not.toContain(btoa(key).slice(0, 12))
  })

  it('leaves text without the key unchanged', () => {
    const text = 'The model "gpt-6" does not exist (100% sure) &amp; that is that: \\n eyJhbGciOiJIUzI1NiJ9 0123456789abcdef'
    expect(withoutSecret(text, key)).toBe(text)
    expect(withoutSecret(text, 'gpt-6')).toBe(text)
    expect(withoutSecret(text, undefined)).toBe(text)
  })

  it('redacts several secrets', () => {
    expect(withoutSecret('a AKIA0123456789 and wJalrXUtnFEMI b', ['AKIA0123456789', 'wJalrXUtnFEMI'])).toBe('a [redacted] and [redacted] b')
  })
})

const secret = fc.string({
  minLength: 12,
  maxLength: 60,
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
})
const around = fc.string({ maxLength: 40 })

describe('withoutSecret with any key', () => {
  it.each(Object.entries(forms))('redacts any key: %s', (_name, form) => {
    fc.assert(
      fc.property(secret, around, around, (own, before, after) => {
        const echo = form(own)
        const shown = withoutSecret(`${before}${echo}${after}`, own)
        expect(shown).toContain('[redacted]')
        expect(shown).not.toContain(echo)
      }),
      { numRuns: runs(100, 1000) },
    )
  })

  it('redacts a key inside base64 at any alignment', () => {
    fc.assert(
      fc.property(secret, fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (own, before, after) => {
        const shown = withoutSecret(Buffer.from(`${before}${own}${after}`).toString('base64'), own)
        const rest = Buffer.from(shown.split('[redacted]')[0] ?? '', 'base64').toString('latin1')
        expect(shown).toContain('[redacted]')
        expect(isReadable(rest, own)).toBe(false)
      }),
    )
  })
})

// Were time to grow with the square of the text, these would take hours.
it('handles long hostile text quickly', () => {
  const random = seeded(7)
  const length = runs(40_000, 200_000)
  const hostile = [
    key.slice(0, 8).repeat(length / 8),
    btoa(key).repeat(length / btoa(key).length),
    '%25'.repeat(length / 3),
    '\\'.repeat(length),
    '&#38;'.repeat(length / 5),
    ' '.repeat(length),
    'a'.repeat(length),
    Array.from({ length }, () => 'abcdef0123456789+/=%&\\ '.charAt(Math.floor(random() * 23))).join(''),
  ]
  for (const text of hostile) expect(withoutSecret(text, key).length).toBeLessThanOrEqual(length + 20)
})
