import DOMPurify from 'dompurify'
import { Marked, type TokenizerAndRendererExtension } from 'marked'
import { markPattern, withoutMarks } from './marks.ts'
import { mathExtension } from './math.ts'

/** Elements allowed in prose. None loads or runs anything, or positions itself on the page. */
const tags = 'p br strong em del code pre a ul ol li blockquote h1 h2 h3 h4 h5 h6 hr table thead tbody tr th td span'.split(' ')
const attributes = ['href', 'target', 'rel', 'class', 'title', 'start', 'align']
/** Elements in formulas. */
const mathTags =
  'math semantics mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle mpadded mphantom menclose'
const mathAttributes =
  'display mathvariant stretchy fence separator lspace rspace minsize maxsize width height depth voffset linethickness columnalign columnspacing rowspacing displaystyle scriptlevel accent accentunder notation'

/**
 * The number of a source after the cited passage, as a link to the list of sources. A model cannot write one, because the characters that
 * form marks are removed from its text.
 */
const citation: TokenizerAndRendererExtension = {
  name: 'citation',
  level: 'inline',
  start: (text) => {
    const at = text.search(markPattern)
    return at < 0 ? undefined : at
  },
  tokenizer(text) {
    const found = markPattern.exec(text)
    return found?.index === 0 ? { type: 'citation', raw: found[0], number: found[1], page: found[2] } : undefined
  },
  renderer({ number, page }) {
    const [address, words] = page === undefined ? ['', ''] : [`-page-${page}`, `, page ${page}`]
    return `<a class="cite" href="#source-${number}${address}" title="Source ${number}${words}">${number}</a>`
  },
}

const marked = new Marked({
  gfm: true,
  extensions: [citation, mathExtension(escaped)],
  renderer: {
    // HTML written by a model is shown as text.
    html: ({ text }) => escaped(text),
    image: ({ href, text }) =>
      `<span class="no-image" title="${escaped(href)}">image${text === '' ? '' : ` “${escaped(text)}”`} not loaded: ${escaped(hostOf(href))}</span>`,
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      if (!/^(?:https?|mailto):/i.test(href)) return text
      return `<a href="${escaped(href)}" title="${escaped(href)}" target="_blank" rel="noopener noreferrer nofollow" class="external">${text}<span class="host"> ${escaped(hostOf(href))}</span></a>`
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

/** Returns one block's HTML, which contains only the allowed elements. */
export function proseHtml(source: string): string {
  const html = marked.parse(source, { async: false })
  // The remaining marks are in code or in a URL.
  return DOMPurify.sanitize(withoutMarks(html), {
    ALLOWED_TAGS: [...tags, ...mathTags.split(' ')],
    ALLOWED_ATTR: [...attributes, ...mathAttributes.split(' ')],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ADD_ATTR: ['target'],
  })
}

function hostOf(address: string): string {
  try {
    const { host, protocol } = new URL(address)
    return host || protocol.replace(':', '')
  } catch {
    return 'no address'
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
