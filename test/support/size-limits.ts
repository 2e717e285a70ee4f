const kB = 1000

/**
 * What the package may weigh: the one home of these figures, in bytes. Raising one needs an issue that says why. Below these limits clarity
 * beats bytes.
 */
export const sizeLimits = {
  /** Loaded scripts of the first program (examples/first.ts with a provider), in bytes of gzip. Issue 45 allowed 1.5 kB more here and below. */
  loaded: 108.7 * kB,
  /** How many scripts that is. */
  requests: 3,
  /** gzip, of the same program in one file. */
  oneFile: 139.4 * kB,
  /** All files of the package, unpacked. The stores of issue 46 and MCP apps of issue 45 needed 100 kB more. */
  unpacked: 6500 * kB,
  /** The most scripts in `dist`, without the playground. */
  scripts: 220,
}

const inKb = (bytes: number): string => `${bytes / kB} kB`

/** {@link sizeLimits} as texts for people. */
export const limitTexts = {
  loaded: `${inKb(sizeLimits.loaded)} in ${sizeLimits.requests} scripts`,
  oneFile: inKb(sizeLimits.oneFile),
  unpacked: `${sizeLimits.unpacked / kB / kB} MB`,
}

/** What pages say of the limits, word for word. */
export const documentedSizes: Readonly<Record<string, readonly string[]>> = {
  'docs/internals/performance.md': [
    `| loaded by the browser, gzip | ${limitTexts.loaded} |`,
    `| the same program in one file, gzip | ${limitTexts.oneFile} |`,
    `| the package, unpacked | ${limitTexts.unpacked} |`,
  ],
  'CONTRIBUTING.md': [
    `The first program loads at most ${inKb(sizeLimits.loaded)} gzip in ${sizeLimits.requests} scripts`,
    `with its late chunks, it has at most ${limitTexts.oneFile}`,
    `The package has at most ${limitTexts.unpacked} unpacked`,
  ],
}
