# mclust_noise.json: R's mclust fitted to Old Faithful with 30 additional rows of noise, with a noise component that is
# uniform in the bounding box, started from the true groups.

suppressMessages(library(mclust))

number <- function(x) sprintf("%.15g", x)
vector_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")

faithful_table <- as.matrix(read.csv("faithful.csv"))
i <- 1:30
noise <- cbind(6 * ((i * 0.618034) %% 1), 30 + 80 * ((i * 0.754878) %% 1))
x <- rbind(faithful_table, noise)
volume <- prod(apply(x, 2, function(column) diff(range(column))))
short <- x[, 1] < 3
from_noise <- seq_len(nrow(x)) > nrow(faithful_table)
z <- cbind(!short & !from_noise, short & !from_noise, from_noise) * 1

entry <- function(name) {
  model <- me(name, data = x, z = z, Vinv = 1 / volume, control = emControl(eps = 0, tol = c(1e-14, 1e-14), itmax = c(10000, 10000)))
  sprintf(' "%s": {"log_likelihood": %s, "weights": %s, "means": %s, "parameters": %d}', name, number(model$loglik),
          vector_of(model$parameters$pro), vector_of(as.vector(model$parameters$mean)),
          as.integer(nMclustParams(name, d = 2, G = 2, noise = TRUE)))
}
writeLines(c("{",
  sprintf(' "made_with": {"R": "%s", "mclust": "%s"},', getRversion(), packageVersion("mclust")),
  paste(sapply(c("EII", "EEE", "VVV"), entry), collapse = ",\n"), "}"), "mclust_noise.json")
cat("mclust_noise.json:", file.size("mclust_noise.json") / 1000, "kB\n")
