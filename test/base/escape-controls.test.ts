import { describe, expect, it } from 'vitest'
import { escapeControls, escapeInvisible } from '../../src/store.ts'

describe('escapeControls', () => {
  it.each([
    ['\u001b[2J\u001b]0;title\u0007', '\\u{1b}[2J\\u{1b}]0;title\\u{7}'],
    ['safe\u202egpj.exe', 'safe\\u{202e}gpj.exe'],
    ['a\u2066b\u2069c\u200ed\u200fe\u061cf', 'a\\u{2066}b\\u{2069}c\\u{200e}d\\u{200f}e\\u{61c}f'],
    ['\u009b31m\u0085\u2028\u2029\u0000\u007f\b', '\\u{9b}31m\\u{85}\\u{2028}\\u{2029}\\u{0}\\u{7f}\\u{8}'],
    ['over\rwritten', 'over\\u{d}written'],
    ['hid\u200bden\ufeff\u2060\u{e0041}', 'hid\\u{200b}den\\u{feff}\\u{2060}\\u{e0041}'],
  ])('renders %j as %j', (text, shown) => {
    expect(escapeControls(text)).toBe(shown)
  })

  it('leaves lines, tabs, every script and emoji unchanged', () => {
    const text = 'a\tb\nzwölf 日本語 עברית فارسی‌ها 👨‍👩‍👧 é'
    expect(escapeControls(text)).toBe(text)
    expect(escapeControls('one\r\ntwo')).toBe('one\ntwo')
  })
})

describe('escapeInvisible', () => {
  it.each([
    ['soft hyphen', '\u00ad'],
    ['grapheme joiner', '\u034f'],
    ['Hangul fillers', '\u115f\u1160\u3164\uffa0'],
    ['Mongolian vowel separator', '\u180e'],
    ['joiners and direction marks', '\u200b\u200c\u200d\u200e\u202e\u2066'],
    ['invisible operators', '\u2061\u2064'],
    ['blank Braille', '\u2800'],
    ['variation selectors', '\ufe0f\u{e0100}'],
    ['tags', '\u{e0041}'],
    ['odd spaces and lines', '\u00a0\u2003\u3000\n\t\r\u2028'],
    ['lone surrogates and private use', '\ud800\ue000'],
  ])('escapes each of the %s', (_, hidden) => {
    const shown = escapeInvisible(`rm${hidden} -rf`)
    expect(shown).toBe(`rm${[...hidden].map((each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`).join('')} -rf`)
    expect(shown).toMatch(/^[\x20-\x7e]+$/)
  })

  it('leaves visible characters unchanged', () => {
    expect(escapeInvisible('zwölf 日本語 עברית é 👨')).toBe('zwölf 日本語 עברית é 👨')
  })
})
