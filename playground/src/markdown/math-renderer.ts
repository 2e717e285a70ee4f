import katex from 'katex'

/** A formula as MathML, which browsers draw by themselves: no fonts, no styles. `undefined` for what is no TeX. */
export function mathMl(source: string, isBlock: boolean): string | undefined {
  try {
    const html = katex.renderToString(source, {
      ...{ output: 'mathml', displayMode: isBlock, strict: 'ignore' },
      // Whose words these are is not known: no links, no addresses, nothing that grows without end.
      ...{ trust: false, maxSize: 20, maxExpand: 200 },
    })
    // The source once more, for programs.
    return html.replace(/<annotation[^>]*>[^<]*<\/annotation>/g, '')
  } catch {
    return undefined
  }
}
