import katex from 'katex'

/** Returns a formula as MathML, which browsers render without fonts or styles. `undefined` for invalid TeX. */
export function mathMl(source: string, isBlock: boolean): string | undefined {
  try {
    const html = katex.renderToString(source, {
      ...{ output: 'mathml', displayMode: isBlock, strict: 'ignore' },
      // The input is untrusted, so links, URLs and unlimited expansion are disabled.
      ...{ trust: false, maxSize: 20, maxExpand: 200 },
    })
    // The annotation repeats the source, for programs.
    return html.replace(/<annotation[^>]*>[^<]*<\/annotation>/g, '')
  } catch {
    return undefined
  }
}
