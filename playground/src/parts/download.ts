interface Download {
  name: string
  type: string
  content: BlobPart
}

/** Downloads a file. It is never opened in the page, whatever its type. */
export function download({ name, type, content }: Download): void {
  const href = URL.createObjectURL(new Blob([content], { type }))
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
