/** What to do about a stored image whose build context is lost or isn't ours: only a change makes the bundle write another. */
export const WRITE_IMAGE_ANEW = "change a file of the image, and run its bundle again: agent-env run <bundle>";
