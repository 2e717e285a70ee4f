const formats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

/** The format of an image as Claude's services name it; `undefined` where they take no such images. */
export function imageFormat(mimeType: string): string | undefined {
  const type = mimeType.toLowerCase()
  return Object.hasOwn(formats, type) ? formats[type] : undefined
}

/** What stands for an image of another format. */
export function imageLeftOut(mimeType: string): string {
  return `(image left out: ${mimeType} is not png, jpeg, gif or webp)`
}
