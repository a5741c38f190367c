# Writes a table of four round groups in five columns, and times R's mclust on the grid of 1 to 9 components and fourteen
# covariance structures. Arguments: the number of rows, the table to write, the file for the BIC of each pair. Prints the
# seconds of the fits.

if (!suppressWarnings(suppressMessages(require(mclust, quietly = TRUE)))) quit(status = 3)

arguments <- commandArgs(trailingOnly = TRUE)
rows <- as.integer(arguments[1])
set.seed(11)
centres <- 4 * matrix(rnorm(20), 4)
x <- centres[sample(4, rows, TRUE), ] + matrix(rnorm(5 * rows), rows)
colnames(x) <- c("a", "b", "c", "d", "e")
write.csv(format(x, digits = 17), arguments[2], row.names = FALSE, quote = FALSE)
# mclust clusters a random sample of 2,000 rows to start from.
set.seed(1)
cat(system.time(model <- Mclust(x, G = 1:9, verbose = FALSE))[["elapsed"]], "\n")
# The opposite sign: smaller is better.
bic <- -unclass(model$BIC)
write.csv(data.frame(covariance = colnames(bic)[as.vector(col(bic))], components = as.vector(row(bic)), bic = as.vector(bic)), arguments[3],
          row.names = FALSE, quote = FALSE)
